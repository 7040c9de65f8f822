export type Theme = "light" | "dark";

const KEY = "disco-rag-theme";

export function theme(): Theme {
  const kept = localStorage.getItem(KEY);
  if (kept === "light" || kept === "dark") return kept;
  return window.matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
}

export function show(shown: Theme): void {
  document.documentElement.dataset.theme = shown;
  document.documentElement.style.colorScheme = shown;
}

export function keep(chosen: Theme): void {
  localStorage.setItem(KEY, chosen);
  show(chosen);
}

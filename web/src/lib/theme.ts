export type Theme = "light" | "dark";

const KEY = "disco-rag-theme";
const dark = window.matchMedia("(prefers-color-scheme: dark)");

export function theme(): Theme {
  const kept = localStorage.getItem(KEY);
  if (kept === "light" || kept === "dark") return kept;
  return dark.matches ? "dark" : "light";
}

export function show(shown: Theme): void {
  document.documentElement.dataset.theme = shown;
  document.documentElement.style.colorScheme = shown;
}

export function keep(chosen: Theme): void {
  localStorage.setItem(KEY, chosen);
  show(chosen);
}

export function follow(told: (theme: Theme) => void): () => void {
  const changed = () => told(theme());
  dark.addEventListener("change", changed);
  return () => dark.removeEventListener("change", changed);
}

export interface Told {
  text: string;
  only: boolean;
}

/** The sentences of one answer; `only` are those that the other does not have. */
export function against(mine: string[], other: string[]): Told[] {
  const there = new Set(other.map((text) => text.trim()));
  return mine.map((text) => ({ text, only: !there.has(text.trim()) }));
}

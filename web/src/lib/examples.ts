import type { Corpus } from "../api/types";

/** Questions that the example corpora answer; their order is that in which a corpus is chosen at first. */
export const QUESTIONS: Record<string, string[]> = {
  "vitamin-d": [
    "Does vitamin D prevent flu?",
    "Who should take vitamin D?",
    "Is a large monthly dose of vitamin D as good as a small daily dose?",
  ],
  "school-start": ["Do later school start times improve sleep, attendance and grades?"],
  tides: ["Why are some tides higher than others?", "Why does high tide come later each day?", "What causes tides?"],
  bees: ["How do honey bees tell each other where food is?"],
  "library-handbook": ["When may a fine be waived?", "What should staff do when they find a water leak?"],
  zh: ["喝绿茶对身体有什么好处？"],
};

/** The corpus to open: the reader's own that was written last, else the first of the examples. */
export function firstCorpus(corpora: Corpus[]): string {
  const order = Object.keys(QUESTIONS);
  const rank = ({ name }: Corpus) => order.indexOf(name);
  const filled = corpora.filter(({ documents }) => documents > 0);
  const latest = [...filled].sort((a, b) => (b.written ?? "").localeCompare(a.written ?? ""));
  const own = latest.find((corpus) => rank(corpus) < 0);
  const example = [...filled].sort((a, b) => rank(a) - rank(b)).at(0);
  return (own ?? example ?? corpora[0])?.name ?? "";
}

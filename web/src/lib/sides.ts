/** The two sides of a comparison, as the address has them: `preset~retriever~part,part`, parts that are off. */

export const AS_PRESET = "as the preset";
export const PARTS = [
  { id: "use_tree", name: "Trees" },
  { id: "use_graph", name: "Graph" },
  { id: "use_plan", name: "Plan" },
];

export interface Side {
  preset: string;
  retriever: string;
  off: string[];
}

export const sideName = ({ preset, retriever, off }: Side): string =>
  [preset, retriever === AS_PRESET ? "" : retriever, off.join(",")].join("~");

/** `usual` where the address says nothing. */
export function sideOf(name: string, usual: Side): Side {
  const [preset = "", retriever = "", off = ""] = name.split("~");
  if (!preset) return usual;
  const known = PARTS.map(({ id }) => id);
  return { preset, retriever: retriever || AS_PRESET, off: off.split(",").filter((id) => known.includes(id)) };
}

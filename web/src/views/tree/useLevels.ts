import { useCallback, useEffect, useRef, useState } from "react";
import { levels } from "../../api/calls";
import { problemOf, type Problem } from "../../api/client";
import type { Levels, ShownNode } from "../../api/types";

const AT_ONCE = 50;
/** More than this is not opened at once. */
const MOST_OPEN = 300;

/** A row's key: the numbers of the nodes down to it, for a node of a cluster tree may lie below several. */
export const keyBelow = (above: string, node: number): string => (above ? `${above}/${node}` : String(node));
export const nodeOf = (key: string): number => Number(key.split("/").at(-1));

export interface Unfolding {
  head: Levels | null;
  problem: Problem | null;
  below: ReadonlyMap<number, ShownNode[]>;
  open: ReadonlySet<string>;
  toggle: (keys: Set<string>) => void;
  more: (node: number | null) => void;
  /** Opens what leads to nodes that are wanted. */
  openTo: (wanted: (node: ShownNode) => boolean, then?: () => void) => void;
  closeAll: () => void;
  again: () => void;
}

function grouped(nodes: ShownNode[]): [number, ShownNode[]][] {
  const parents = [...new Set(nodes.map((n) => n.parent))].filter((p) => p !== null);
  return parents.map((parent) => [parent, nodes.filter((n) => n.parent === parent)]);
}

/** The stored tree of a document, of which each level is asked for when it is opened. */
export function useLevels(corpus: string, doc: string, builder: string): Unfolding {
  const [head, setHead] = useState<Levels | null>(null);
  const [below, setBelow] = useState<ReadonlyMap<number, ShownNode[]>>(new Map());
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set());
  const [problem, setProblem] = useState<Problem | null>(null);
  const [round, setRound] = useState(0);
  const known = useRef(new Map<number, ShownNode[]>());
  const life = useRef(0);
  const failed = useCallback((error: unknown) => setProblem(problemOf(error)), []);

  useEffect(() => {
    const own = ++life.current;
    known.current = new Map();
    setHead(null);
    setBelow(new Map());
    setOpen(new Set());
    setProblem(null);
    levels(corpus, doc, builder).then(
      (found) => own === life.current && setHead(found),
      (error: unknown) => own === life.current && failed(error),
    );
    return () => {
      life.current += 1;
    };
  }, [corpus, doc, builder, round, failed]);

  const load = useCallback(
    async (nodes: number[]) => {
      const own = life.current;
      const missing = [...new Set(nodes)].filter((node) => !known.current.has(node));
      for (let i = 0; i < missing.length; i += AT_ONCE) {
        const found = await levels(corpus, doc, builder, missing.slice(i, i + AT_ONCE));
        if (own !== life.current) return;
        grouped(found.nodes).forEach(([parent, children]) => known.current.set(parent, children));
      }
      if (missing.length) setBelow(new Map(known.current));
    },
    [corpus, doc, builder],
  );

  const toggle = (keys: Set<string>) => {
    setOpen(keys);
    load([...keys].map(nodeOf)).catch(failed);
  };

  const more = (node: number | null) => {
    const own = life.current;
    const shown = node === null ? (head?.nodes ?? []) : (known.current.get(node) ?? []);
    levels(corpus, doc, builder, node === null ? [] : [node], shown.length).then((found) => {
      if (own !== life.current) return;
      if (node === null) setHead((old) => old && { ...old, nodes: [...shown, ...found.nodes] });
      else {
        known.current.set(node, [...shown, ...found.nodes]);
        setBelow(new Map(known.current));
      }
    }, failed);
  };

  const openTo = useCallback(
    async (wanted: (node: ShownNode) => boolean) => {
      const opened = new Set<string>();
      let level = (head?.nodes ?? []).map((node) => ({ key: keyBelow("", node.node), node }));
      while (level.length && opened.size < MOST_OPEN) {
        const next = level.filter(({ node }) => node.children > 0 && wanted(node));
        await load(next.map(({ node }) => node.node));
        next.forEach(({ key }) => opened.add(key));
        level = next.flatMap(({ key, node }) =>
          (known.current.get(node.node) ?? []).map((child) => ({ key: keyBelow(key, child.node), node: child })),
        );
      }
      setOpen(opened);
    },
    [head, load],
  );

  return {
    head,
    problem,
    below,
    open,
    toggle,
    more,
    openTo: useCallback((wanted, then) => void openTo(wanted).then(then, failed), [openTo, failed]),
    closeAll: () => setOpen(new Set()),
    again: () => setRound((n) => n + 1),
  };
}

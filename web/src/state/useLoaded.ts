import { useCallback, useEffect, useState } from "react";
import { problemOf, type Problem } from "../api/client";

export interface Loaded<T> {
  value: T | null;
  problem: Problem | null;
  loading: boolean;
}

/** What `load` gives, again when `key` changes; an empty key loads nothing. */
export function useLoaded<T>(key: string, load: () => Promise<T>): Loaded<T> & { again: () => void } {
  const [state, setState] = useState<Loaded<T> & { key: string }>({ key: "", value: null, problem: null, loading: false });
  const [round, setRound] = useState(0);
  useEffect(() => {
    if (!key) return undefined;
    let wanted = true;
    load().then(
      (value) => wanted && setState({ key, value, problem: null, loading: false }),
      (error: unknown) => wanted && setState({ key, value: null, problem: problemOf(error), loading: false }),
    );
    return () => {
      wanted = false;
    };
  }, [key, round]);
  const again = useCallback(() => setRound((n) => n + 1), []);
  if (key !== state.key) return { value: null, problem: null, loading: Boolean(key), again };
  return { ...state, again };
}

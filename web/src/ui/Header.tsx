import { useEffect, useRef, useState } from "react";
import { Button } from "react-aria-components";
import { storedKey } from "../api/client";
import { keep, theme } from "../lib/theme";
import { hashOf, INSPECT, VIEWS, type View } from "../lib/route";
import { VIEW_NAMES } from "../lib/words";
import { useApp } from "../state/app";

function ThemeButton() {
  const [shown, setShown] = useState(theme);
  const other = shown === "dark" ? "light" : "dark";
  const toggle = () => {
    keep(other);
    setShown(other);
  };
  return (
    <Button className="button quiet-button" aria-label={`Switch to ${other} colours`} onPress={toggle}>
      {other === "dark" ? "Dark" : "Light"}
    </Button>
  );
}

function ViewLink({ view, name, current }: { view: View; name: string; current: boolean }) {
  const { route, go } = useApp();
  return (
    <a
      href={hashOf({ ...route, view })}
      aria-current={current ? "page" : undefined}
      onClick={(event) => {
        if (event.metaKey || event.ctrlKey || event.shiftKey) return;
        event.preventDefault();
        go({ view });
      }}
    >
      {name}
    </a>
  );
}

/** The four views for looking into an answer, while one of them is shown. */
export function InspectBar() {
  const { route } = useApp();
  if (!INSPECT.includes(route.view)) return null;
  return (
    <nav className="inspect" aria-label="Inspect">
      {INSPECT.map((view) => (
        <ViewLink key={view} view={view} name={VIEW_NAMES[view]} current={route.view === view} />
      ))}
    </nav>
  );
}

export function Header() {
  const { route, session, signIn } = useApp();
  const inspecting = INSPECT.includes(route.view);
  const nav = useRef<HTMLElement>(null);
  useEffect(() => {
    const here = nav.current?.querySelector("[aria-current]");
    here?.scrollIntoView({ block: "nearest", inline: "center" });
  }, [route.view]);
  return (
    <header className="top">
      <a className="mark" href={hashOf({ ...route, view: "ask" })}>
        disco-rag
      </a>
      <nav aria-label="Views" ref={nav}>
        {VIEWS.filter((view) => !INSPECT.includes(view)).map((view) => (
          <ViewLink key={view} view={view} name={VIEW_NAMES[view]} current={route.view === view} />
        ))}
        <ViewLink view={inspecting ? route.view : "graph"} name="Inspect" current={inspecting} />
      </nav>
      <div className="top-end">
        {session?.keys && storedKey() && (
          <Button className="button quiet-button" onPress={() => signIn("")}>
            Sign out
          </Button>
        )}
        <ThemeButton />
      </div>
    </header>
  );
}

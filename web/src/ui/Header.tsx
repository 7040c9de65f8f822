import { useEffect, useRef, useState } from "react";
import { Button } from "react-aria-components";
import { storedKey } from "../api/client";
import { follow, keep, show, theme } from "../lib/theme";
import { hashOf, VIEWS } from "../lib/route";
import { VIEW_NAMES } from "../lib/words";
import { useApp } from "../state/app";

function ThemeButton() {
  const [shown, setShown] = useState(theme);
  useEffect(
    () =>
      follow((next) => {
        show(next);
        setShown(next);
      }),
    [],
  );
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

export function Header() {
  const { route, go, session, signIn } = useApp();
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
        {VIEWS.map((view) => (
          <a
            key={view}
            href={hashOf({ ...route, view })}
            aria-current={route.view === view ? "page" : undefined}
            onClick={(event) => {
              if (event.metaKey || event.ctrlKey || event.shiftKey) return;
              event.preventDefault();
              go({ view });
            }}
          >
            {VIEW_NAMES[view]}
          </a>
        ))}
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

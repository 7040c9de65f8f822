import { useState } from "react";
import { Button } from "react-aria-components";
import type { Reply } from "../../api/types";
import { save } from "../../lib/save";
import { useApp } from "../../state/app";
import { seconds, tokens } from "../../lib/words";

export function SaveBar({ result }: { result: Reply }) {
  const { go } = useApp();
  const [copied, setCopied] = useState("");
  const copy = () =>
    navigator.clipboard.writeText(location.href).then(
      () => setCopied("The link is copied."),
      () => setCopied("The browser did not copy it: copy it from the address bar."),
    );
  return (
    <footer className="save-bar">
      <Button className="button primary" onPress={() => go({ view: "compare", left: "", right: "" })}>
        Compare with plain RAG
      </Button>
      {result.markdown && (
        <Button className="button" onPress={() => save("answer.md", new Blob([result.markdown], { type: "text/markdown;charset=utf-8" }))}>
          Markdown
        </Button>
      )}
      <Button className="button" onPress={() => void copy()}>
        Copy link
      </Button>
      <span role="status" className="quiet small">
        {copied}
      </span>
      <span className="quiet small cost">
        {seconds(result.seconds)} · {tokens(result.ledger.stages)}
      </span>
    </footer>
  );
}

import { useState } from "react";
import { Button, Dialog, DialogTrigger, Heading, Popover } from "react-aria-components";
import type { Thread } from "../../api/types";
import { useApp } from "../../state/app";
import { Picks } from "../../ui/Picks";
import { Confirm } from "../../ui/Confirm";

/** The conversations that are kept, each under its first question. */
export function ThreadList({ close }: { close?: () => void }) {
  const { threads, go, route } = useApp();
  const [leaving, setLeaving] = useState<Thread | null>(null);
  return (
    <>
      <ul className="threads">
        {threads.all.map((thread) => (
          <li key={thread.id}>
            <button
              type="button"
              className="thread"
              aria-current={thread.id === route.thread || undefined}
              onClick={() => {
                close?.();
                go({ thread: thread.id, corpus: thread.corpus ?? "", s: null, q: "" });
              }}
            >
              <bdi>{thread.title}</bdi>
              <span className="quiet small">
                <bdi>{thread.corpus}</bdi>, {new Date(thread.created).toLocaleDateString("en-GB", { day: "numeric", month: "short" })}
              </span>
            </button>
            <Button className="button quiet-button" aria-label={`Delete the conversation: ${thread.title}`} onPress={() => setLeaving(thread)}>
              ✕
            </Button>
          </li>
        ))}
      </ul>
      <Confirm
        title="Delete this conversation?"
        action="Delete"
        open={leaving !== null}
        onClose={() => setLeaving(null)}
        onConfirm={() => leaving && threads.forget(leaving.id)}
      >
        <p>
          <bdi>{leaving?.title}</bdi> and its answers are deleted. The documents stay.
        </p>
      </Confirm>
    </>
  );
}

/** The questions of the open conversation, and the way to others. */
export function ThreadBar() {
  const { threads, run, session, showTurn, restart } = useApp();
  const { all, turns } = threads;
  if (!all.length && run.status === "idle") return null;
  return (
    <div className="thread-bar">
      {turns.length > 1 && (
        <Picks
          label="This conversation"
          value={turns.findLast((reply) => reply.text === run.result?.text && reply.answer.query === run.asked?.query)}
          options={turns.map((reply) => ({ value: reply, name: reply.answer.query }))}
          onChange={(reply) => reply && showTurn(reply)}
        />
      )}
      {turns.length > 1 && !session?.language_model && (
        <p className="small quiet">Without a language model, each question is answered on its own.</p>
      )}
      <span className="thread-acts">
        {run.status !== "idle" && (
          <Button className="button quiet-button" onPress={() => restart()}>
            New conversation
          </Button>
        )}
        {all.length > 0 && run.status !== "idle" && (
          <DialogTrigger>
            <Button className="button quiet-button">Conversations ({all.length})</Button>
            <Popover className="popover" placement="bottom end">
              <Dialog className="dialog thread-dialog">
                {({ close }) => (
                  <>
                    <Heading slot="title">Conversations</Heading>
                    <ThreadList close={close} />
                  </>
                )}
              </Dialog>
            </Popover>
          </DialogTrigger>
        )}
      </span>
    </div>
  );
}

/** What a language model was asked for and did not do, and references that the plan could not keep. */
export function Unsaid({ notes }: { notes: string[] }) {
  if (!notes.length) return null;
  return (
    <section className="note" aria-label="Notes">
      <ul>
        {notes.map((note) => (
          <li key={note}>
            <bdi>{note}</bdi>
          </li>
        ))}
      </ul>
    </section>
  );
}

import { Label, ProgressBar } from "react-aria-components";

export function Bar({ label, share, said }: { label: string; share: number; said: string }) {
  return (
    <ProgressBar value={share * 100} className="bar">
      {({ percentage }) => (
        <>
          <Label>
            <bdi>{label}</bdi>
          </Label>
          <span className="quiet small">{said}</span>
          <span className="bar-track">
            <span className="bar-fill" style={{ width: `${percentage ?? 0}%` }} />
          </span>
        </>
      )}
    </ProgressBar>
  );
}

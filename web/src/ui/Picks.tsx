interface Props<T> {
  label: string;
  value: T;
  options: { value: T; name: string }[];
  onChange: (value: T) => void;
}

/** A few choices of which one is always chosen. */
export function Picks<T>({ label, value, options, onChange }: Props<T>) {
  return (
    <div className="picks" role="group" aria-label={label}>
      {options.map((option, at) => (
        <button type="button" key={at} className="pick" aria-pressed={option.value === value} onClick={() => onChange(option.value)}>
          <bdi>{option.name}</bdi>
        </button>
      ))}
    </div>
  );
}

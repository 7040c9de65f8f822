import { Button, Label, ListBox, ListBoxItem, Popover, Select, SelectValue } from "react-aria-components";

export interface Option {
  id: string;
  name: string;
  note?: string;
}

interface Props {
  label: string;
  value: string;
  options: Option[];
  onChange: (id: string) => void;
}

export function Choice({ label, value, options, onChange }: Props) {
  return (
    <Select
      className="choice"
      value={value || null}
      onChange={(id) => id !== null && onChange(String(id))}
      isDisabled={!options.length}
      placeholder={value || "None"}
    >
      <Label>{label}</Label>
      <Button className="choice-button">
        <SelectValue className="choice-value" />
        <span aria-hidden="true" className="caret" />
      </Button>
      <Popover className="popover">
        <ListBox className="options" items={options}>
          {(option) => (
            <ListBoxItem id={option.id} textValue={option.name} className="option">
              <bdi>{option.name}</bdi>
              {option.note && <span className="quiet small"> {option.note}</span>}
            </ListBoxItem>
          )}
        </ListBox>
      </Popover>
    </Select>
  );
}

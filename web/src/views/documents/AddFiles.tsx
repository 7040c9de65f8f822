import { useState } from "react";
import { Button, DropZone, FileTrigger, Input, Label, Text, TextField, type DropZoneProps } from "react-aria-components";
import { useApp } from "../../state/app";

type Dropped = Parameters<NonNullable<DropZoneProps["onDrop"]>>[0];

interface Props {
  corpus: string;
  onFiles: (files: File[], corpus: string) => void;
}

export function AddFiles({ corpus, onFiles }: Props) {
  const { go, session } = useApp();
  const [named, setNamed] = useState("");
  const target = named.trim() || corpus || "default";
  const take = (files: File[]) => {
    if (!files.length) return;
    onFiles(files, target);
    if (target !== corpus) go({ corpus: target });
    setNamed("");
  };
  const dropped = async (event: Dropped) => {
    const found = event.items.filter((item) => item.kind === "file").map((item) => item.getFile());
    take(await Promise.all(found));
  };
  return (
    <DropZone className="drop" onDrop={(event) => void dropped(event)} aria-label="Drop files here">
      <Text slot="label" className="drop-lead">
        Drop files here, or choose them
      </Text>
      <p className="quiet small">
        {session?.formats.join(", ")}. A file with the same name replaces the stored one.
      </p>
      <div className="drop-row">
        <TextField className="field" value={named} onChange={setNamed} maxLength={200}>
          <Label>Add to corpus</Label>
          <Input placeholder={corpus || "default"} />
        </TextField>
        <FileTrigger allowsMultiple onSelect={(files) => take([...(files ?? [])])}>
          <Button className="button primary">Choose files</Button>
        </FileTrigger>
      </div>
    </DropZone>
  );
}

import { useState, type FormEvent } from "react";
import { Button, Form, Input, Label, TextField } from "react-aria-components";
import { storedKey, type Problem } from "../api/client";
import { useApp } from "../state/app";

export function SignIn({ problem }: { problem: Problem }) {
  const { signIn } = useApp();
  const [key, setKey] = useState("");
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (key.trim()) signIn(key.trim());
  };
  return (
    <section className="panel sign-in" aria-labelledby="sign-in">
      <h2 id="sign-in">Sign in</h2>
      <p>This server asks for an API key. It is kept until this tab is closed.</p>
      {storedKey() && (
        <p role="alert" className="bad">
          {problem.message} {problem.hint}
        </p>
      )}
      <Form onSubmit={submit}>
        <TextField className="field" type="password" value={key} onChange={setKey} autoComplete="off" autoFocus isRequired>
          <Label>API key</Label>
          <Input />
        </TextField>
        <Button type="submit" className="button primary">
          Sign in
        </Button>
      </Form>
    </section>
  );
}

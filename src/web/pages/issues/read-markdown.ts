import { invalidField } from "../../../lib/failure.ts";
import type { Form } from "../form.ts";
import { TEXT_CHARS_MAX } from "./text-field.tsx";

/** @throws Failure `invalid` for a longer text than the API takes. */
export function readMarkdown(
  form: Form,
  name: string,
  isRequired: boolean,
  charsMax = TEXT_CHARS_MAX,
): string {
  const text = form.text(name).replaceAll("\r\n", "\n");
  if (text.length > charsMax) throw invalidField(name, `must have at most ${charsMax} characters`);
  if (isRequired && text.trim() === "") throw invalidField(name, "must not be empty");
  return text;
}

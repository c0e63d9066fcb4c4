import { invalidField } from "../../../lib/failure.ts";
import type { Form } from "../form.ts";
import { TEXT_CHARS_MAX } from "./text-field.tsx";

/** @throws Failure `invalid` for a longer text than the API takes. */
export function readBody(form: Form, name: string, isRequired: boolean): string {
  const text = form.text(name).replaceAll("\r\n", "\n");
  if (text.length > TEXT_CHARS_MAX) {
    throw invalidField(name, `must have at most ${TEXT_CHARS_MAX} characters`);
  }
  if (isRequired && text.trim() === "") throw invalidField(name, "must not be empty");
  return text;
}

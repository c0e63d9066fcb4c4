import type { Form } from "../form.ts";

/** Characters of a list of names. */
export const NAMES_CHARS_MAX = 4096;

/**
 * The names of a field, which blanks, commas or line breaks separate.
 *
 * @throws Failure `invalid` for a longer text.
 */
export const readNames = (form: Form, name: string): string[] =>
  form
    .line(name, NAMES_CHARS_MAX)
    .split(/[\s,]+/)
    .filter((each) => each !== "");

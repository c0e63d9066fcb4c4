import type { TextForm } from "../contents/text-form.ts";

const MARK = "\uFEFF";

/**
 * The content of a file with the text that was typed, as the EditorConfig properties of its path
 * ask for it. Without them lines end as in `form`.
 *
 * @param text With line feeds, with or without carriage returns: browsers send both.
 */
export function applyDefinition(
  text: string,
  definition: Readonly<Record<string, string>>,
  form: TextForm,
): Uint8Array {
  let lines = text.replaceAll(/\r\n?/g, "\n");
  if (definition["trim_trailing_whitespace"] === "true") lines = lines.replaceAll(/[ \t]+$/gm, "");
  const isUnfinished = lines !== "" && !lines.endsWith("\n");
  if (definition["insert_final_newline"] === "true" && isUnfinished) lines += "\n";
  const asked = definition["end_of_line"];
  const lineEnd = asked === "lf" || asked === "crlf" ? asked : form.lineEnd;
  if (lineEnd === "crlf") lines = lines.replaceAll("\n", "\r\n");
  const hasMark = form.hasMark || definition["charset"] === "utf-8-bom";
  return new TextEncoder().encode((hasMark ? MARK : "") + lines);
}

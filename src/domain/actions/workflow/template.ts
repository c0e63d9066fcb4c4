import { WorkflowError } from "./workflow-error.ts";

interface TemplateText {
  readonly kind: "text";
  readonly text: string;
}

/** An expression without its `${{ }}`. */
export interface TemplateExpression {
  readonly kind: "expression";
  readonly text: string;
  /** Where its `${{` starts, in characters. */
  readonly offset: number;
}

/** A text between expressions, or an expression. */
export type TemplateSegment = TemplateText | TemplateExpression;

/** @throws WorkflowError if an expression has no end. */
export function splitTemplate(text: string): TemplateSegment[] {
  const segments: TemplateSegment[] = [];
  let at = 0;
  while (at < text.length) {
    const start = text.indexOf("${{", at);
    if (start < 0) break;
    const end = findEnd(text, start + 3);
    if (end === undefined) throw new WorkflowError("The expression has no '}}'", start);
    if (start > at) segments.push({ kind: "text", text: text.slice(at, start) });
    segments.push({ kind: "expression", text: text.slice(start + 3, end), offset: start });
    at = end + 2;
  }
  if (at < text.length) segments.push({ kind: "text", text: text.slice(at) });
  return segments;
}

/** The first `}}` outside of quotes. */
function findEnd(text: string, from: number): number | undefined {
  let isQuoted = false;
  for (let at = from; at < text.length; at++) {
    if (text[at] === "'") isQuoted = !isQuoted;
    else if (!isQuoted && text[at] === "}" && text[at + 1] === "}") return at;
  }
  return undefined;
}

/** An `if` needs no `${{ }}`. */
export function splitCondition(text: string): TemplateSegment[] {
  return text.includes("${{") ? splitTemplate(text) : [{ kind: "expression", text, offset: 0 }];
}

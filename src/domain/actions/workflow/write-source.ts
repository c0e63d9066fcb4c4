import type { SourceNode, SourceScalar } from "./source-node.ts";

/** A text that means itself without quotes, for each reader of YAML. */
const PLAIN = /^[A-Za-z_][\w./-]*$/;
/** Texts of this form that some readers take for truth values or nothing. */
const WORDS = /^(?:y|yes|n|no|on|off|true|false|null)$/i;
/** What readers of YAML refuse even within quotes. */
const UNPRINTABLE = /[\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff]/g;

/**
 * Writes a part of a workflow file as YAML, with all aliases written out. Numbers and other plain
 * values stay as they are written, so that `3.10` is no `3.1`.
 */
export function writeSource(node: SourceNode): string {
  const parts: string[] = [];
  write(node, "");
  return parts.join("");

  /** Follows `key:` or `-`. */
  function write(part: SourceNode, indent: string): void {
    if (part.kind === "scalar") {
      parts.push(" ", writeScalar(part), "\n");
    } else if (part.kind === "list") {
      if (part.items.length === 0) parts.push(" []\n");
      else if (indent !== "" || parts.length > 0) parts.push("\n");
      for (const item of part.items) {
        parts.push(indent, "-");
        write(item, `${indent}  `);
      }
    } else {
      if (part.entries.size === 0) parts.push(" {}\n");
      else if (parts.length > 0) parts.push("\n");
      for (const [key, { value }] of part.entries) {
        parts.push(indent, writeText(key, true), ":");
        write(value, `${indent}  `);
      }
    }
  }
}

function writeScalar(node: SourceScalar): string {
  if (node.value === null) return "null";
  return typeof node.value === "string" ? writeText(node.text, node.isPlain) : node.text;
}

/** @param mayBeWord Whether a word such as `on` stood there without quotes. */
function writeText(text: string, mayBeWord: boolean): string {
  if (PLAIN.test(text) && (mayBeWord || !WORDS.test(text))) return text;
  return JSON.stringify(text).replaceAll(
    UNPRINTABLE,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

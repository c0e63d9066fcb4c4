import type { Glob } from "../../../git/glob/match-glob.ts";
import { parseSectionGlob } from "./section-glob.ts";

/** Maximum length of a section header, in characters. Longer sections are ignored. */
const HEADER_CHARS_MAX = 1024;

/** Properties with case-insensitive values. */
const CASE_INSENSITIVE = new Set([
  "end_of_line",
  "indent_style",
  "indent_size",
  "insert_final_newline",
  "trim_trailing_whitespace",
  "charset",
]);

interface Section {
  readonly glob: Glob;
  readonly properties: ReadonlyMap<string, string>;
}

/** A parsed `.editorconfig` with its sections in file order. */
export interface EditorConfig {
  /** Whether the files of parent directories are ignored. */
  readonly isRoot: boolean;
  readonly sections: readonly Section[];
}

/**
 * Parses an `.editorconfig`. Malformed lines are skipped.
 *
 * @see https://spec.editorconfig.org, "File Format".
 */
export function parseEditorConfig(text: string): EditorConfig {
  let isRoot = false;
  let properties: Map<string, string> | undefined;
  const sections: Section[] = [];
  for (const line of text.replace(/^\uFEFF/, "").split(/\r?\n/)) {
    const content = stripComment(line);
    const [, header] = /^\[(.+)\]$/.exec(content) ?? [];
    if (header !== undefined) {
      properties = new Map();
      if (header.length > HEADER_CHARS_MAX) continue;
      sections.push({ glob: parseSectionGlob(header), properties });
      continue;
    }
    const [, name = "", value = ""] = /^([^=:]*[^=:\s])\s*[=:]\s*(.*)$/.exec(content) ?? [];
    const key = name.toLowerCase();
    if (key === "") continue;
    if (properties) properties.set(key, CASE_INSENSITIVE.has(key) ? value.toLowerCase() : value);
    else if (key === "root") isRoot = value.toLowerCase() === "true";
  }
  return { isRoot, sections };
}

/** Strips a comment, which either fills the line or follows a blank. */
function stripComment(line: string): string {
  const trimmed = line.trim();
  if (trimmed.startsWith("#") || trimmed.startsWith(";")) return "";
  const comment = trimmed.search(/\s[#;]/);
  return comment < 0 ? trimmed : trimmed.slice(0, comment).trimEnd();
}

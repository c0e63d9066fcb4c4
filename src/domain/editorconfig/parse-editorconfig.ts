import type { Glob } from "../../git/glob/match-glob.ts";
import { parseSectionGlob } from "./section-glob.ts";

/** Longest header of a section that is read, in characters. */
const HEADER_CHARS_MAX = 1024;

/** Properties whose values are of a few words, in any case. */
const WORDS = new Set([
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

/** An `.editorconfig`, with its sections in their order. */
export interface EditorConfig {
  /** Whether those of directories above don't count. */
  readonly isRoot: boolean;
  readonly sections: readonly Section[];
}

/**
 * Reads an `.editorconfig`. Lines that say nothing are passed over.
 *
 * @see https://spec.editorconfig.org, "File Format".
 */
export function parseEditorConfig(text: string): EditorConfig {
  let isRoot = false;
  let properties: Map<string, string> | undefined;
  const sections: Section[] = [];
  for (const line of text.replace(/^\uFEFF/, "").split(/\r?\n/)) {
    const bare = withoutComment(line);
    const [, header] = /^\[(.+)\]$/.exec(bare) ?? [];
    if (header !== undefined) {
      properties = new Map();
      if (header.length > HEADER_CHARS_MAX) continue;
      sections.push({ glob: parseSectionGlob(header), properties });
      continue;
    }
    const [, name = "", value = ""] = /^([^=:]*[^=:\s])\s*[=:]\s*(.*)$/.exec(bare) ?? [];
    const key = name.toLowerCase();
    if (key === "") continue;
    if (properties) properties.set(key, WORDS.has(key) ? value.toLowerCase() : value);
    else if (key === "root") isRoot = value.toLowerCase() === "true";
  }
  return { isRoot, sections };
}

/** A comment fills a line, or stands behind a blank. */
function withoutComment(line: string): string {
  const trimmed = line.trim();
  if (trimmed.startsWith("#") || trimmed.startsWith(";")) return "";
  const comment = trimmed.search(/\s[#;]/);
  return comment < 0 ? trimmed : trimmed.slice(0, comment).trimEnd();
}

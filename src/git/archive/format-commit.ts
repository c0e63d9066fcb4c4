import type { ByteText } from "../byte-text.ts";
import { type Commit, findHeader } from "../object/commit.ts";
import { type DateStyle, formatDate } from "../object/format-date.ts";
import type { Identity } from "../object/identity.ts";
import { splitMessage } from "../object/message.ts";
import type { Oid } from "../oid.ts";

/** The values for placeholders. */
export interface FormattedCommit {
  readonly oid: Oid;
  /** The commit, with its text in UTF-8. */
  readonly commit: Commit;
  /** The refs that point to the commit, as `git log --decorate` shows them. */
  readonly decorations: readonly ByteText[];
  abbreviate(oid: Oid): string;
}

/** Maximum length of all expansions in a file. */
const EXPANDED_CHARS_MAX = 16 * 1024 * 1024;

const DATES: Readonly<Record<string, DateStyle>> = {
  d: "git",
  D: "email",
  i: "iso",
  I: "iso-strict",
  s: "day",
};

/**
 * Expands the placeholders of a format as `git log --format` does: ids, people, dates, the message,
 * its encoding and the refs. Placeholders that depend on the current time, on colours or on the
 * terminal width are left unexpanded, and so is `%(describe)`.
 *
 * SECURITY: a file can contain the message of its commit millions of times. Placeholders stay
 * unexpanded once those of the file have become 16 MB.
 *
 * @see git-log(1), "Pretty formats".
 */
export class CommitFormatter {
  /** Expansions by placeholder, since a file may contain one millions of times. */
  private readonly known = new Map<string, string>();
  private readonly about: FormattedCommit;
  private charsLeft = EXPANDED_CHARS_MAX;

  /** A formatter for one file. */
  constructor(about: FormattedCommit) {
    this.about = about;
  }

  format(format: ByteText): ByteText {
    const [text = ""] = format.split("\0", 1);
    return text.replaceAll(/%(?:[ac][a-zA-Z]|x[0-9a-fA-F]{2}|[^ac])/g, (placeholder) => {
      const expanded = this.expand(placeholder);
      if (expanded.length > this.charsLeft) return placeholder;
      this.charsLeft -= expanded.length;
      return expanded;
    }) as ByteText;
  }

  private expand(placeholder: string): string {
    let expanded = this.known.get(placeholder);
    expanded ??= fill(placeholder.slice(1), this.about) ?? placeholder;
    if (this.known.size < KNOWN_MAX) this.known.set(placeholder, expanded);
    return expanded;
  }
}

const KNOWN_MAX = 1000;

function fill(name: string, about: FormattedCommit): string | undefined {
  const { oid, commit, decorations } = about;
  const short = (each: Oid): string => about.abbreviate(each);
  switch (name) {
    case "H":
      return oid;
    case "h":
      return short(oid);
    case "T":
      return commit.treeOid;
    case "t":
      return short(commit.treeOid);
    case "P":
      return commit.parentOids.join(" ");
    case "p":
      return commit.parentOids.map(short).join(" ");
    case "s":
      return splitMessage(commit.message).subject;
    case "f":
      return toFileName(splitMessage(commit.message).firstLine);
    case "b":
      return splitMessage(commit.message).body;
    case "B":
      return commit.message.split("\0", 1)[0];
    case "e":
      return findHeader(commit.headers, "encoding") ?? "";
    case "d":
      return decorations.length === 0 ? "" : ` (${decorations.join(", ")})`;
    case "D":
      return decorations.join(", ");
    case "n":
      return "\n";
    case "%":
      return "%";
    default:
      if (name.startsWith("x") && name.length === 3) {
        return String.fromCharCode(Number.parseInt(name.slice(1), 16));
      }
      if (name.startsWith("a")) return fillPerson(name.slice(1), commit.author);
      return name.startsWith("c") ? fillPerson(name.slice(1), commit.committer) : undefined;
  }
}

function fillPerson(part: string, person: Identity): string | undefined {
  const style = DATES[part];
  if (style) return formatDate(person, style);
  switch (part) {
    case "n":
    case "N":
      return person.name;
    case "e":
    case "E":
      return person.email;
    case "l":
    case "L":
      return person.email.split("@", 1)[0];
    case "t":
      return String(person.timeSeconds);
    default:
      return undefined;
  }
}

/** Converts a subject to a file name. */
function toFileName(line: string): string {
  const name = line
    .replaceAll(/\.+/g, ".")
    .replaceAll(/[^A-Za-z0-9._]+/g, "-")
    .replace(/^-/, "");
  // Not by a pattern: one that ends in `$` tries each dot of a long run of dots and dashes.
  let end = name.length;
  while (end > 0 && (name[end - 1] === "." || name[end - 1] === "-")) end--;
  return name.slice(0, end);
}

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

const DATES: Readonly<Record<string, DateStyle>> = {
  d: "git",
  D: "email",
  i: "iso",
  I: "iso-strict",
  s: "day",
};

/**
 * Expands the placeholders of a format as `git log --format` does: ids, people, dates, the message, its
 * encoding and the refs. Placeholders that depend on the current time, on colours or on the terminal width
 * are left unexpanded, and so is `%(describe)`.
 *
 * @see git-log(1), "Pretty formats".
 */
export function formatCommitText(format: ByteText, about: FormattedCommit): ByteText {
  const [text = ""] = format.split("\0", 1);
  return text.replaceAll(
    /%(?:[ac][a-zA-Z]|x[0-9a-fA-F]{2}|[^ac])/g,
    (placeholder) => fill(placeholder.slice(1), about) ?? placeholder,
  ) as ByteText;
}

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
  return line
    .replaceAll(/\.+/g, ".")
    .replaceAll(/[^A-Za-z0-9._]+/g, "-")
    .replace(/^-/, "")
    .replace(/[.-]+$/, "");
}

/** Severity of a finding: `git fsck` fails on an error and only reports the others. */
type Severity = "error" | "warn" | "info" | "ignore";

/** Git's message ids for faults of objects, with git's severity for each. */
const SEVERITIES = {
  nulInHeader: "error",
  unterminatedHeader: "error",
  badDate: "error",
  badDateOverflow: "error",
  badEmail: "error",
  badName: "error",
  badObjectSha1: "error",
  badParentSha1: "error",
  badTimezone: "error",
  badTree: "error",
  badTreeSha1: "error",
  badType: "error",
  duplicateEntries: "error",
  gitattributesLarge: "error",
  gitattributesLineLength: "error",
  gitmodulesBlob: "error",
  gitmodulesLarge: "error",
  gitmodulesName: "error",
  gitmodulesPath: "error",
  gitmodulesSymlink: "error",
  gitmodulesUpdate: "error",
  gitmodulesUrl: "error",
  missingAuthor: "error",
  missingCommitter: "error",
  missingEmail: "error",
  missingNameBeforeEmail: "error",
  missingObject: "error",
  missingSpaceBeforeDate: "error",
  missingSpaceBeforeEmail: "error",
  missingTag: "error",
  missingTagEntry: "error",
  missingTree: "error",
  missingType: "error",
  missingTypeEntry: "error",
  multipleAuthors: "error",
  treeNotSorted: "error",
  zeroPaddedDate: "error",
  fullPathname: "warn",
  hasDot: "warn",
  hasDotdot: "warn",
  hasDotgit: "warn",
  nullSha1: "warn",
  nulInCommit: "warn",
  zeroPaddedFilemode: "warn",
  badFilemode: "info",
  badTagName: "info",
  gitattributesSymlink: "info",
  gitignoreSymlink: "info",
  gitmodulesParse: "info",
  mailmapSymlink: "info",
  missingTaggerEntry: "info",
  extraHeaderEntry: "ignore",
} as const satisfies Record<string, Severity>;

/** @see git-fsck(1), "FSCK MESSAGES". */
export type FindingId = keyof typeof SEVERITIES;

/** A fault of an object. */
export interface Finding {
  readonly id: FindingId;
  readonly severity: Severity;
}

/**
 * Returns the severity of `id`.
 *
 * @param isStrict True to treat warnings as errors, as `git fsck --strict` and a receiving
 * repository with `transfer.fsckObjects` do.
 */
function severityOf(id: FindingId, isStrict: boolean): Severity {
  const severity = SEVERITIES[id];
  return isStrict && severity === "warn" ? "error" : severity;
}

/** The findings of one object, in the order in which git reports them. */
export class Findings {
  readonly list: Finding[] = [];
  private readonly isStrict: boolean;

  constructor(isStrict: boolean) {
    this.isStrict = isStrict;
  }

  /** Adds a finding; returns true if it is an error, after which git stops checking the object. */
  add(id: FindingId): boolean {
    const severity = severityOf(id, this.isStrict);
    this.list.push({ id, severity });
    return severity === "error";
  }
}

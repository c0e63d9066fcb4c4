/**
 * The treatment of an object with a finding: it is refused, it is accepted with a warning or
 * silently.
 */
const SEVERITIES = ["error", "warn", "ignore"] as const;
export type Severity = (typeof SEVERITIES)[number];

/** A kind of fault of an object. */
interface FindingRule {
  /** Git's own severity. On receipt git takes `warn` as an error, and `info` as a warning. */
  readonly git: "fatal" | "error" | "warn" | "info" | "ignore";
  /**
   * Default severity of a pushed object. `fatal` is refused always: the
   * object can't be read, or what it links to can't be known.
   */
  readonly pushed: "fatal" | Severity;
  /** The defect, as the end of a sentence. */
  readonly text: string;
}

type Row = readonly [git: FindingRule["git"], pushed: FindingRule["pushed"], text: string];

/**
 * Git's message ids for faults of objects.
 *
 * A severity differs from git's on receipt in two cases. What old tools wrote into histories that
 * are cloned every day, and what harms no reader, is a warning: identities, dates, zones, padded
 * modes, NUL in a message, long lines of attributes. What git lets an administrator accept although
 * no link of the object can be followed is `fatal`.
 *
 * @see git-fsck(1), "FSCK MESSAGES".
 */
const ROWS = {
  badDate: ["error", "warn", "a date can't be read"],
  badDateOverflow: ["error", "warn", "a date is too far in the future"],
  badEmail: ["error", "warn", "an e-mail address is not closed, or has a bracket in it"],
  badFilemode: ["info", "warn", "an entry has a file mode that git does not write"],
  badGpgsig: ["error", "error", "a signature header is cut off"],
  badHeaderContinuation: ["error", "error", "a header of several lines is cut off"],
  badName: ["error", "warn", "a name has a bracket in it"],
  badObjectSha1: ["error", "fatal", "the tagged object's id can't be read"],
  badParentSha1: ["error", "fatal", "a parent's id can't be read"],
  badTagName: ["info", "warn", "the tag's name is not allowed"],
  badTimezone: ["error", "warn", "a time zone is not a sign and four digits"],
  badTree: ["error", "fatal", "the tree can't be read"],
  badTreeSha1: ["error", "fatal", "the tree's id can't be read"],
  badType: ["error", "fatal", "the type of the tagged object is unknown"],
  duplicateEntries: ["error", "error", "two entries have the same name"],
  emptyName: ["warn", "fatal", "an entry has no name"],
  extraHeaderEntry: ["ignore", "ignore", "a tag has headers that git does not write"],
  fullPathname: ["warn", "error", "a name has a slash in it"],
  gitattributesBlob: ["error", "error", ".gitattributes is not a file"],
  gitattributesLarge: ["error", "error", ".gitattributes is too large"],
  gitattributesLineLength: [
    "error",
    "warn",
    "a line of .gitattributes is too long and has no effect",
  ],
  gitattributesMissing: ["error", "error", ".gitattributes does not exist"],
  gitattributesSymlink: ["info", "warn", ".gitattributes is a symbolic link"],
  gitignoreSymlink: ["info", "warn", ".gitignore is a symbolic link"],
  gitmodulesBlob: ["error", "error", ".gitmodules is not a file"],
  gitmodulesLarge: ["error", "error", ".gitmodules is too large"],
  gitmodulesMissing: ["error", "error", ".gitmodules does not exist"],
  gitmodulesName: ["error", "error", "the name of a submodule leads out of its directory"],
  gitmodulesParse: ["info", "warn", ".gitmodules has a line that can't be read"],
  gitmodulesPath: ["error", "error", "the path of a submodule looks like an option"],
  gitmodulesSymlink: ["error", "error", ".gitmodules is a symbolic link"],
  gitmodulesUpdate: ["error", "error", "a submodule is updated by a command"],
  gitmodulesUrl: ["error", "error", "the address of a submodule is dangerous"],
  hasDot: ["warn", "error", "an entry is named ."],
  hasDotdot: ["warn", "error", "an entry is named .."],
  hasDotgit: [
    "warn",
    "error",
    "an entry is named .git, or so that a file system takes it for .git",
  ],
  largePathname: ["warn", "error", "a name is longer than 4096 bytes"],
  mailmapSymlink: ["info", "warn", ".mailmap is a symbolic link"],
  missingAuthor: ["error", "error", "the author line is missing"],
  missingCommitter: ["error", "error", "the committer line is missing"],
  missingEmail: ["error", "warn", "an e-mail address is missing"],
  missingNameBeforeEmail: ["error", "warn", "a name is missing before an e-mail address"],
  missingObject: ["error", "fatal", "the tag names no object"],
  missingSpaceBeforeDate: ["error", "warn", "a space is missing before a date"],
  missingSpaceBeforeEmail: ["error", "warn", "a space is missing before an e-mail address"],
  missingTag: ["error", "fatal", "the tag ends before its name"],
  missingTagEntry: ["error", "error", "the tag has no name"],
  missingTaggerEntry: ["info", "warn", "the tagger line is missing"],
  missingTree: ["error", "fatal", "the commit names no tree"],
  missingType: ["error", "fatal", "the tag ends before the type of its object"],
  missingTypeEntry: ["error", "fatal", "the tag does not say the type of its object"],
  multipleAuthors: ["error", "warn", "the commit has several author lines"],
  nulInCommit: ["warn", "warn", "the message has a NUL byte in it"],
  nulInHeader: ["fatal", "fatal", "a header has a NUL byte in it"],
  nullSha1: ["warn", "error", "an entry refers to the null id"],
  treeNotSorted: ["error", "error", "the entries are out of order"],
  unknownType: ["error", "fatal", "the object's type is unknown"],
  unterminatedHeader: ["fatal", "fatal", "the last header does not end"],
  zeroPaddedDate: ["error", "warn", "a date begins with a zero"],
  zeroPaddedFilemode: ["warn", "warn", "a file mode begins with a zero"],
} as const satisfies Record<string, Row>;

export type FindingId = keyof typeof ROWS;

export const FINDING_IDS = Object.keys(ROWS) as readonly FindingId[];

export const FINDING_RULES = Object.fromEntries(
  Object.entries(ROWS).map(([id, [git, pushed, text]]) => [id, { git, pushed, text }]),
) as Readonly<Record<FindingId, FindingRule>>;

/** The severity of each finding. */
export type FindingSeverities = Readonly<Record<FindingId, Severity>>;

/** The default severities of pushed objects. */
export const DEFAULT_SEVERITIES = Object.fromEntries(
  FINDING_IDS.map((id) => {
    const { pushed } = FINDING_RULES[id];
    return [id, pushed === "fatal" ? "error" : pushed];
  }),
) as FindingSeverities;

/**
 * Parses changes to the default severities, such as `badTimezone=error, hasDotgit=warn`. As in
 * git's configuration, the case of the ids does not matter.
 *
 * @returns Undefined if an item names no finding or no severity, or lowers one that is always an
 *   error.
 */
export function parseSeverities(list: string): FindingSeverities | undefined {
  const severities = { ...DEFAULT_SEVERITIES } as Record<FindingId, Severity>;
  for (const item of list.split(",")) {
    if (item.trim() === "") continue;
    const [, name = "", value] = /^\s*([A-Za-z0-9]+)\s*=\s*([a-z]+)\s*$/.exec(item) ?? [];
    const id = FINDING_IDS.find((each) => each.toLowerCase() === name.toLowerCase());
    const severity = SEVERITIES.find((each) => each === value);
    if (id === undefined || severity === undefined) return undefined;
    if (FINDING_RULES[id].pushed === "fatal" && severity !== "error") return undefined;
    severities[id] = severity;
  }
  return severities;
}

/** A fault of an object. */
export interface Finding {
  readonly id: FindingId;
  readonly severity: Severity;
}

/** The findings of one object, in the order in which git reports them. */
export class Findings {
  readonly list: Finding[] = [];
  private readonly severities: FindingSeverities;

  constructor(severities: FindingSeverities) {
    this.severities = severities;
  }

  /** Adds a finding; returns true if it is an error, after which git stops checking the object. */
  add(id: FindingId): boolean {
    const severity = this.severities[id];
    this.list.push({ id, severity });
    return severity === "error";
  }
}

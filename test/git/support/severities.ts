import {
  FINDING_IDS,
  FINDING_RULES,
  type FindingSeverities,
  type Severity,
} from "../../../src/git/object/finding.ts";

const each = (severity: (id: (typeof FINDING_IDS)[number]) => Severity): FindingSeverities =>
  Object.fromEntries(FINDING_IDS.map((id) => [id, severity(id)])) as FindingSeverities;

const RECEIVED = {
  fatal: "error",
  error: "error",
  warn: "error",
  info: "warn",
  ignore: "ignore",
} as const;

/** As `git fsck --strict`, and as a repository with `receive.fsckObjects` on receipt. */
export const STRICT_SEVERITIES = each((id) => RECEIVED[FINDING_RULES[id].git]);

/** As lenient as a setting can make the service. */
export const LENIENT_SEVERITIES = each((id) =>
  FINDING_RULES[id].pushed === "fatal" ? "error" : "warn",
);

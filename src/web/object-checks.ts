import { Hono } from "hono";

import { FINDING_IDS, FINDING_RULES, type FindingSeverities } from "../git/object/finding.ts";
import { OBJECT_CHECKS_PATH } from "../shapes/urls.ts";
import type { WebEnv } from "./env.ts";

/**
 * The page to which a push with findings leads: what each finding is, and what this service does
 * about it.
 */
export const objectChecks = new Hono<WebEnv>();

objectChecks.get(OBJECT_CHECKS_PATH, (c) =>
  c.text(formatPage(c.var.base.config.findingSeverities)),
);

const LABELS = { error: "refused", warn: "warning", ignore: "accepted" } as const;

function formatPage(severities: FindingSeverities): string {
  const width = Math.max(...FINDING_IDS.map((id) => id.length));
  const rows = FINDING_IDS.map((id) => {
    const label = LABELS[severities[id]];
    return `${id.padEnd(width)}  ${label.padEnd(8)}  ${FINDING_RULES[id].text}`;
  });
  return `Checks of pushed objects

Each object of a push is checked as git fsck does. A finding is refused, accepted with a warning, or accepted.

To see all findings of a repository before it is pushed:

    git fsck --strict

An object can't be changed: a refused one is replaced by rewriting the history, which gives all later commits
other ids. git filter-repo does that. An administrator of the service may choose another severity for most
findings, by the setting RECEIVE_FSCK.

${rows.join("\n")}
`;
}

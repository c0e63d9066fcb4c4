import { and, eq } from "drizzle-orm";

import type { Requirement } from "../auth/access/requirement.ts";
import type { Scope } from "../auth/scope.ts";
import type { Ctx } from "../context.ts";
import { issues, type ProjectPart, timelineEntries, type Unit } from "../db/schema/index.ts";
import { Failure } from "../lib/failure.ts";
import type { RepositoryContext } from "../shapes/repos/repository.ts";

/** The subject that a request changes below a repository, by its path. */
export type PathSubject =
  | { readonly kind: "labels" | "milestones" }
  /** An issue or pull request, by its number; undefined for a new issue. */
  | { readonly kind: "issue"; readonly number: number | undefined }
  | { readonly kind: "comment"; readonly id: number }
  /** A subject of the caller's own, such as a subscription. */
  | { readonly kind: "own" };

/** The parts of a project that a unit holds. */
const PARTS_OF_UNITS: Partial<Record<Unit, ProjectPart>> = {
  issues: "issues",
  pulls: "pulls",
  releases: "releases",
};

interface Change {
  readonly scopes: readonly Scope[];
  readonly requirement: Requirement;
  readonly subject?: PathSubject | undefined;
}

/**
 * Refuses changes of what a mirror keeps in step with its remote: of these parts alone.
 *
 * Costs a read only where a mirror keeps either issues or pull requests in step, and the path does
 * not show which is meant.
 *
 * @throws Failure `locked`.
 */
export async function refuseInStep(
  ctx: Ctx,
  { row, owner }: RepositoryContext,
  change: Change,
): Promise<void> {
  const parts = row.isMirror ? (row.origin?.mirror?.parts ?? []) : [];
  if (parts.length === 0) return;
  const part = await findChangedPart(ctx, row.id, change, parts);
  if (part === undefined || !parts.includes(part)) return;
  throw new Failure(
    "locked",
    `${owner.name}/${row.name} is a mirror: its ${part} are read-only here, as they follow ${row.origin?.url}`,
  );
}

async function findChangedPart(
  ctx: Ctx,
  repoId: number,
  { scopes, requirement, subject }: Change,
  parts: readonly ProjectPart[],
): Promise<ProjectPart | undefined> {
  if (scopes.includes("write:repository")) {
    return requirement.unit === undefined ? undefined : PARTS_OF_UNITS[requirement.unit];
  }
  if (!scopes.includes("write:issue") || !subject) return undefined;
  switch (subject.kind) {
    case "labels":
    case "milestones":
      return subject.kind;
    case "own":
      return undefined;
    case "issue":
    case "comment":
      break;
    default:
      return subject satisfies never;
  }
  if (subject.kind === "issue" && subject.number === undefined) return "issues";
  if (!parts.includes("issues") && !parts.includes("pulls")) return undefined;
  if (parts.includes("issues") && parts.includes("pulls")) return "issues";
  const isPull = await findIsPull(ctx, repoId, subject);
  if (isPull === undefined) return undefined;
  return isPull ? "pulls" : "issues";
}

/** Whether an issue or comment is a pull request, or about one; undefined if there is none. */
async function findIsPull(
  { db }: Ctx,
  repoId: number,
  subject: PathSubject,
): Promise<boolean | undefined> {
  const isOfRepo = eq(issues.repoId, repoId);
  const select = db.select({ isPull: issues.isPull }).from(issues);
  const [found] =
    subject.kind === "comment"
      ? await select
          .innerJoin(timelineEntries, eq(timelineEntries.issueId, issues.id))
          .where(and(isOfRepo, eq(timelineEntries.id, subject.id)))
      : await select.where(
          and(isOfRepo, eq(issues.number, (subject.kind === "issue" && subject.number) || 0)),
        );
  return found?.isPull;
}

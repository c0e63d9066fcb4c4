import { z } from "@hono/zod-openapi";

import type { AuditRow } from "../../db/schema/index.ts";
import { formatTime } from "../../lib/time.ts";
import { toSnakeCase } from "../../lib/to-snake-case.ts";
import { Int64, Time } from "../json.ts";
import { ACCOUNT_DETAILS } from "./details/account-details.ts";
import { ACTION_VALUE_DETAILS } from "./details/action-value-details.ts";
import { CREDENTIAL_DETAILS } from "./details/credential-details.ts";
import { ORGANIZATION_DETAILS } from "./details/organization-details.ts";
import { PACKAGE_DETAILS } from "./details/package-details.ts";
import { REPOSITORY_DETAILS } from "./details/repository-details.ts";
import { RUNNER_DETAILS } from "./details/runner-details.ts";
import { WORKFLOW_DETAILS } from "./details/workflow-details.ts";
import { SIGN_IN_DETAILS } from "./details/sign-in-details.ts";
import { TOOL_DETAILS } from "./details/tool-details.ts";

/**
 * Every kind of entry in the audit log, with its details beside the fields that all entries share.
 *
 * SECURITY: only the fields named in these shapes are stored and leave the service, and none is a
 * secret.
 */
export const AUDIT_DETAILS = {
  ...SIGN_IN_DETAILS,
  ...CREDENTIAL_DETAILS,
  ...ACCOUNT_DETAILS,
  ...ORGANIZATION_DETAILS,
  ...REPOSITORY_DETAILS,
  ...PACKAGE_DETAILS,
  ...ACTION_VALUE_DETAILS,
  ...RUNNER_DETAILS,
  ...WORKFLOW_DETAILS,
  ...TOOL_DETAILS,
} as const;

/** The recorded kinds of entries. */
export type AuditKind = keyof typeof AUDIT_DETAILS;

/** The details of a kind of entry. */
export type AuditDetails<K extends AuditKind> = z.infer<(typeof AUDIT_DETAILS)[K]>;

const AuditAccount = z
  .object({ id: Int64, login: z.string().openapi({ description: "Its name at that time" }) })
  .openapi("AuditAccount");

const AuditRepository = z.object({
  id: Int64,
  full_name: z.string().openapi({ description: "Its name at that time", example: "alice/project" }),
});

const AuditEvent = z
  .object({
    id: Int64,
    kind: z.enum(Object.keys(AUDIT_DETAILS) as AuditKind[]),
    actor: AuditAccount.nullable().openapi({
      description: "The user who acted; null for an anonymous caller and for the service",
    }),
    sudo: AuditAccount.nullable().openapi({
      description: "The administrator who acted as the actor",
    }),
    credential: z.string().openapi({ description: "How the actor signed in", example: "token" }),
    token_id: Int64.nullable(),
    owner: AuditAccount.nullable().openapi({
      description: "The user or organization that changed; null for the service",
    }),
    user: AuditAccount.nullable().openapi({
      description: "The user whom the change concerns, where that is not the owner",
    }),
    repository: AuditRepository.nullable(),
    target: z.string().openapi({ description: "The name of the thing that changed" }),
    details: z.record(z.string(), z.unknown()),
    address: z.string().nullable().openapi({
      description: "The client's address; null where it is not known, or not for the caller to see",
    }),
    request_id: z.string(),
    created_at: Time,
  })
  .openapi("AuditEvent");

export const AuditPage = z
  .object({
    events: z.array(AuditEvent),
    next: Int64.openapi({ description: "The value of `after` for the next page" }),
  })
  .openapi("AuditPage");

/** An entry as queries return it. */
export interface AuditEntryRow {
  readonly row: AuditRow;
  /** Whether the caller may see where the actor was. */
  readonly isAddressShown: boolean;
}

/** Formats an entry of the audit log. */
export function toAuditEvent({ row, isAddressShown }: AuditEntryRow): z.infer<typeof AuditEvent> {
  return {
    id: row.id,
    kind: row.kind as AuditKind,
    actor: toAccount(row.actorId, row.actorName),
    sudo: toAccount(row.sudoerId, row.sudoerName),
    credential: row.credential,
    token_id: row.tokenId,
    owner: toAccount(row.ownerId, row.ownerName),
    user: toAccount(row.userId, row.userName),
    repository: row.repoId === null ? null : { id: row.repoId, full_name: row.repoName },
    target: row.target,
    details: toDetails(row),
    address: isAddressShown ? row.address : null,
    request_id: row.requestId,
    created_at: formatTime(row.createdAt),
  };
}

const toAccount = (id: number | null, login: string) => (id ? { id, login } : null);

/**
 * Formats the details of an entry; empty for an unknown kind, which another version may have
 * recorded.
 */
function toDetails({ kind, details }: AuditRow): Record<string, unknown> {
  const shape: z.ZodType<object> | undefined = AUDIT_DETAILS[kind as AuditKind];
  const known = Object.entries({ ...shape?.safeParse(details).data });
  return Object.fromEntries(known.map(([name, value]) => [toSnakeCase(name), value]));
}

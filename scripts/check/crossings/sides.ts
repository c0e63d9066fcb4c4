import { toSnakeCase } from "drizzle-orm/casing";

import { SHARD_OWNED } from "../../../src/db/copies/copied-tables.ts";
import type { OwnedByTable } from "./updated-columns.ts";

/** On which side of the seam a table is: docs/sharding.md says why. */
export type Side = "first" | "copied" | "own" | "each";

/** Tables of credentials, people and the directory of repositories, which are in the first database alone. */
const FIRST = `
  email_addresses follows badges user_badges avatar_images account_deletions registrations
  users_search email_addresses_search
  access_tokens sessions pending_sign_ins public_keys gpg_keys totp_secrets recovery_codes
  webauthn_credentials mailed_codes mails oauth_applications oauth_grants cron_runs
  repositories_search repository_totals discarded_objects
  repository_topics topics topics_search stars watches
  notifications notification_counts
  shards shard_repositories hidden_repositories account_shards shard_tasks copied_changes package_shards repository_moves`;

/**
 * Tables of the first database of which the shards have copies: who is who, who may do what, and a shard's repositories.
 * Statements of own data read the copy; whatever writes such a table does so in the first database, but for columns of
 * repositories that belong to the shard.
 */
const COPIED = `
  users user_redirects blocks organization_members teams team_members
  repositories repository_redirects repository_transfers team_repositories collaborations
  access_token_repositories`;

/** Tables of the repositories' own data, and of the packages of accounts, each in a shard or in the first database. */
const OWN = `
  issues issues_search labels issue_labels issue_assignees issue_mentions issue_subscriptions issue_dependencies milestones
  cross_shard_dependencies cross_shard_references cross_shard_entries
  timeline_entries comment_counts content_versions reactions attachments attachment_loose_files stopwatches tracked_times
  pulls reviews code_comments scheduled_merges merge_queues merge_queue_entries branch_protections tag_protections
  branch_tips commit_statuses repository_insights releases lfs_objects lfs_loose_files lfs_locks
  pull_mirrors push_mirrors imports import_answers foreign_items
  packages package_versions package_files package_blobs package_properties package_registries package_usage
  package_loose_files package_cleanup_rules package_uploads`;

/** Tables that every database has, for the rows of what is in it: a change and its event are one batch. */
const EACH = `
  shard_copies id_ranges owned_changes noted_accounts move_sides moving_repositories move_changes move_batches
  repository_remains relayed_events events event_cursors hooks webhook_events hook_deliveries audit_events`;

const names = (list: string): string[] => list.split(/\s+/).filter((name) => name !== "");

/** The side of each table, by its name in SQL. */
export const SIDES: ReadonlyMap<string, Side> = new Map([
  ...names(FIRST).map((name): [string, Side] => [name, "first"]),
  ...names(COPIED).map((name): [string, Side] => [name, "copied"]),
  ...names(OWN).map((name): [string, Side] => [name, "own"]),
  ...names(EACH).map((name): [string, Side] => [name, "each"]),
]);

/** Columns of copied tables that statements of own data write, since they belong to the shard. */
export const OWNED: OwnedByTable = new Map([
  ["repositories", new Set<string>([...SHARD_OWNED, ...SHARD_OWNED.map(toSnakeCase)])],
]);

import type { Ctx } from "../../../context.ts";
import { ACCESS, type User } from "../../../db/schema/index.ts";
import type { Download } from "../../../lib/download.ts";
import { addBytes, addText, inFiles, streamZip, type Zip } from "../../../lib/stream-zip.ts";
import { formatTime } from "../../../lib/time.ts";
import { toAccessToken } from "../../../shapes/users/access-token.ts";
import { toEmail } from "../../../shapes/users/email.ts";
import { toUserSettings } from "../../../shapes/users/user-settings.ts";
import { toAuditEvent } from "../../../shapes/audit/audit-event.ts";
import { toOAuth2Application } from "../../../shapes/users/oauth-application.ts";
import { htmlUrlOf } from "../../../shapes/urls.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";
import { EXPORT_MEDIA_TYPE } from "../../exchange/exports/export-files.ts";
import { openAttachedFile } from "../../exchange/exports/open-attached-file.ts";
import { listHooks } from "../../exchange/webhooks/hooks/list-hooks.ts";
import { listOwnerVersions } from "../../packages/package/list-package-versions.ts";
import { listBlocks } from "../../people/accounts/block.ts";
import { listEmails } from "../../people/accounts/emails.ts";
import { listFollowers, listFollowing } from "../../people/accounts/list-accounts.ts";
import { listOwnAudit } from "../../people/audit/list-audit.ts";
import { listGpgKeys } from "../../people/keys/gpg-keys.ts";
import { listUserKeys } from "../../people/keys/list-ssh-keys.ts";
import { listApplications } from "../../people/oauth/list-applications.ts";
import { listGranted } from "../../people/oauth/list-granted.ts";
import { formatScope } from "../../people/oauth/requested-scopes.ts";
import { listOwnMemberships } from "../../people/orgs/list-own-memberships.ts";
import { listSessions } from "../../people/sessions/list-sessions.ts";
import { listAccessTokens } from "../../people/tokens/list-access-tokens.ts";
import { listRepositoriesOf } from "../../repos/repository/list-repositories.ts";
import { listStarred, listWatched } from "../../repos/repository/list-stars-and-watches.ts";
import type { Listed, Slice } from "../../slice.ts";
import {
  readOwnComments,
  readOwnFiles,
  readOwnIssues,
  readOwnReactions,
  readOwnReviews,
  readOwnTimes,
} from "./own-posts.ts";

/** Items that one query lists. */
const PAGE_SIZE = 500;

/** Pages of a list: each is added to the file as it is read. */
type Pages = AsyncGenerator<readonly object[]>;

/**
 * Exports all that an account has here but the content of its repositories and packages, which have
 * exports and files of their own: a zip file of JSON, and of what it attached.
 *
 * It is made while it is sent, page by page.
 *
 * SECURITY: for the account itself. It has no secret, and of conversations only what the account
 * wrote, in repositories that it may still see.
 */
export function exportAccount(ctx: Ctx, user: User): Download {
  return {
    name: `${user.name}.zip`,
    mediaType: EXPORT_MEDIA_TYPE,
    tag: `account-${ctx.now}`,
    isTagWeak: true,
    immutableUrl: undefined,
    open: () => Promise.resolve(streamZip((zip) => writeFiles(ctx, user, zip))),
  };
}

async function writeFiles(ctx: Ctx, user: User, zip: Zip): Promise<void> {
  for (const [name, read] of Object.entries(FILES)) {
    let count = 0;
    for await (const items of read(ctx, user)) {
      for (const part of inFiles(items)) await addText(zip, filePath(name, ++count), part);
    }
    if (count === 0) await addText(zip, filePath(name, 1), "[]");
  }
  for await (const files of readOwnFiles(ctx, user)) {
    for (const { file, uuid, size } of files) {
      const pieces = await openAttachedFile(ctx, uuid, size);
      if (pieces) await addBytes(zip, file, pieces);
    }
  }
}

const filePath = (name: string, number: number): string =>
  `${name}${number === 1 ? "" : `-${number}`}.json`;

/** All files of the export, by their names, in their order. */
const FILES: Readonly<Record<string, (ctx: Ctx, user: User) => Pages>> = {
  account: async function* toAccount(ctx, user) {
    yield [
      {
        id: user.id,
        login: user.name,
        email: user.email,
        visibility: user.visibility,
        created_at: formatTime(user.createdAt),
        url: `${ctx.publicUrl}/${user.name}`,
        ...toUserSettings(user),
      },
    ];
  },
  emails: async function* toEmails(ctx, user) {
    yield (await listEmails(ctx, user)).map(toEmail);
  },
  sessions: async function* toSessions(ctx, user) {
    yield (await listSessions(ctx, user)).map((session) => ({
      user_agent: session.userAgent,
      network: session.network,
      created_at: formatTime(session.createdAt),
      last_used_at: formatTime(session.lastUsedAt),
    }));
  },
  ssh_keys: (ctx, user) =>
    pagesOf(
      (slice) => listUserKeys(ctx, user, { fingerprint: "" }, slice),
      ({ title, content, createdAt }) => ({
        title,
        key: content,
        created_at: formatTime(createdAt),
      }),
    ),
  gpg_keys: (ctx, user) =>
    pagesOf(
      (slice) => listGpgKeys(ctx, user, slice),
      ({ key }) => ({ key_id: key.keyId, key: key.armored, verified: key.isProven }),
    ),
  access_tokens: (ctx, user) =>
    pagesOf(
      (slice) => listAccessTokens(ctx, user, slice),
      ({ token, boundTo }) => toAccessToken(token, boundTo),
    ),
  oauth_applications: (ctx, user) =>
    pagesOf(
      (slice) => listApplications(ctx, user, slice),
      (application) => toOAuth2Application(application),
    ),
  oauth_grants: async function* toGrants(ctx, user) {
    yield (await listGranted(ctx, user)).map((granted) => ({
      application: granted.name,
      scope: formatScope(granted),
      repositories: granted.repositories,
      granted_at: formatTime(granted.grantedAt),
      last_used_at: formatTime(granted.lastUsedAt),
    }));
  },
  organizations: (ctx, user) =>
    pagesOf(
      (slice) => listOwnMemberships(ctx, user, slice),
      ({ org, rights }) => ({ name: org.name, is_public: rights.isPublic }),
    ),
  repositories: (ctx, user) =>
    pagesOf(
      (slice) => listRepositoriesOf(ctx, user, slice),
      (repo) => ({
        ...nameOf(ctx, repo),
        description: repo.row.description,
        is_private: repo.row.isPrivate,
        created_at: formatTime(repo.row.createdAt),
      }),
    ),
  packages: (ctx, user) =>
    pagesOf(
      (slice) => listOwnerVersions(ctx, { account: user, access: ACCESS.owner }, {}, slice),
      ({ pkg, version }) => ({
        type: pkg.row.type,
        name: pkg.row.name,
        version: version.version,
        created_at: formatTime(version.createdAt),
      }),
    ),
  stars: (ctx, user) =>
    pagesOf(
      (slice) => listStarred(ctx, user, slice),
      (repo) => nameOf(ctx, repo),
    ),
  watches: (ctx, user) =>
    pagesOf(
      (slice) => listWatched(ctx, user, slice),
      (repo) => nameOf(ctx, repo),
    ),
  following: (ctx, user) => pagesOf((slice) => listFollowing(ctx, user, slice), toName),
  followers: (ctx, user) => pagesOf((slice) => listFollowers(ctx, user, slice), toName),
  blocked_users: (ctx, user) =>
    pagesOf(
      (slice) => listBlocks(ctx, user, slice),
      (block) => ({ name: block.user.name, note: block.note }),
    ),
  webhooks: (ctx, user) =>
    pagesOf(
      (slice) => listHooks(ctx, { level: "user", owner: user }, slice),
      ({ url, type, events, isActive }) => ({ url, type, events, active: isActive }),
    ),
  issues: readOwnIssues,
  comments: readOwnComments,
  reviews: readOwnReviews,
  reactions: readOwnReactions,
  files: readOwnFiles,
  times: readOwnTimes,
  log: toLog,
};

const toName = ({ name }: User) => ({ name });

const nameOf = (ctx: Ctx, repo: RepositoryContext) => ({
  name: `${repo.owner.name}/${repo.row.name}`,
  url: htmlUrlOf(repo, ctx),
});

async function* pagesOf<T>(
  list: (slice: Slice) => Promise<Listed<T>>,
  toItem: (item: T) => object,
): Pages {
  for (let offset = 0; ; offset += PAGE_SIZE) {
    const { items } = await list({ size: PAGE_SIZE, offset });
    if (items.length > 0) yield items.map(toItem);
    if (items.length < PAGE_SIZE) return;
  }
}

/** The entries of the audit log that the account may read. */
async function* toLog(ctx: Ctx, user: User): Pages {
  for (let after = 0; ;) {
    const cursor = { after, order: "asc", size: PAGE_SIZE } as const;
    const { items, next } = await listOwnAudit(ctx, user, {}, cursor);
    if (items.length > 0) yield items.map(toAuditEvent);
    if (next === after) return;
    after = next;
  }
}

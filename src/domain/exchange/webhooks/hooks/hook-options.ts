import { seal } from "../../../../auth/seal.ts";
import type { Ctx } from "../../../../context.ts";
import {
  HOOK_CONTENT_TYPES,
  HOOK_TYPES,
  type ChatSettings,
  type Hook,
  type HookContentType,
  type HookType,
} from "../../../../db/schema/index.ts";
import { defined } from "../../../../lib/defined.ts";
import { invalid, invalidField, malformed } from "../../../../lib/failure.ts";
import { parseBranchGlob } from "../../../../git/glob/branch-glob.ts";
import { parseHookEvents } from "./hook-events.ts";

/** Options of a hook; omitted ones stay as they are. */
export interface HookOptions {
  url?: string | undefined;
  contentType?: string | undefined;
  /** "" removes the value, as for the two options that follow. */
  secret?: string | undefined;
  authorization?: string | undefined;
  branchFilter?: string | undefined;
  events?: string[] | undefined;
  isActive?: boolean | undefined;
  chat: ChatSettings;
}

type Columns = Pick<
  Hook,
  | "url"
  | "contentType"
  | "secret"
  | "authorization"
  | "branchFilter"
  | "events"
  | "isActive"
  | "chat"
>;

/**
 * The purposes that the sealed columns are bound to: a sealed text is unsealed for the same purpose
 * only.
 */
export const SEALED_FOR = { secret: "hook.secret", authorization: "hook.authorization" } as const;

/** The chat settings that each hook type supports. */
const CHAT_FIELDS: Partial<Record<HookType, readonly (keyof ChatSettings)[]>> = {
  slack: ["channel", "username", "iconUrl", "color"],
  discord: ["username", "iconUrl"],
};

/**
 * Validates hook options and converts them to columns.
 *
 * @param chat The stored chat settings of an existing hook.
 * @throws Failure `invalid` for an option that breaks a rule, `malformed` for an invalid Slack
 * channel, `forbidden` for a secret if the service has no sealing key.
 */
export async function toColumns(
  ctx: Ctx,
  type: HookType,
  options: HookOptions,
  chat: ChatSettings = {},
): Promise<Partial<Columns>> {
  const events = options.events && parseHookEvents(options.events);
  const contentType =
    options.contentType === undefined ? undefined : toContentType(options.contentType);
  const filter = options.branchFilter;
  // SQLite ends a text at a NUL.
  if (filter !== undefined && (filter.includes("\0") || !parseBranchGlob(filter))) {
    throw invalidField("branch_filter", "must be a glob pattern");
  }
  // SECURITY: refuses line breaks, which would inject a header, and characters that no header may
  // contain.
  if (
    options.authorization !== undefined &&
    !/^[\t\x20-\x7e\x80-\xff]*$/.test(options.authorization)
  ) {
    throw invalidField(
      "authorization_header",
      "must consist of characters that a header may contain",
    );
  }
  const chatChanges = defined(
    Object.fromEntries((CHAT_FIELDS[type] ?? []).map((name) => [name, options.chat[name]])),
  ) as ChatSettings;
  if (chatChanges.channel !== undefined) chatChanges.channel = toChannel(chatChanges.channel);
  if (options.url !== undefined) await validateHookUrl(ctx, options.url);
  return defined({
    url: options.url,
    contentType,
    branchFilter: options.branchFilter,
    events,
    isActive: options.isActive,
    chat: Object.keys(chatChanges).length > 0 ? { ...chat, ...chatChanges } : undefined,
    secret: await sealed(ctx, options.secret, SEALED_FOR.secret),
    authorization: await sealed(ctx, options.authorization, SEALED_FOR.authorization),
  });
}

/** @throws Failure `invalid` for an unknown type. */
export function toHookType(name: string): HookType {
  const type = HOOK_TYPES.find((each) => each === name);
  if (!type) throw invalid(`Invalid hook type: ${name}`);
  return type;
}

function toContentType(name: string): HookContentType {
  const contentType = HOOK_CONTENT_TYPES.find((each) => each === name);
  if (!contentType) throw invalid("Invalid content type");
  return contentType;
}

function toChannel(text: string): string {
  const channel = text.trim();
  if (!/^#?[a-z0-9_-]{1,80}$/.test(channel)) throw malformed("Invalid slack channel name");
  return channel;
}

/** Timeout for resolving a host name. */
const LOOKUP_MS_MAX = 2000;

/**
 * Refuses a URL that the service must not deliver to: a scheme other than http and https, no host,
 * credentials or characters that disguise the host, and addresses that egress rules block. A host
 * name that does not resolve yet is accepted.
 *
 * Runs for the URL of every hook that is created or edited; the resolved address is checked again
 * on each delivery.
 *
 * @throws Failure `invalid`.
 */
async function validateHookUrl({ outgoing }: Ctx, url: string): Promise<void> {
  // SECURITY: the URL parser silently removes line breaks and tabs, and treats backslashes as
  // slashes.
  // oxlint-disable-next-line no-control-regex -- control characters are what the pattern refuses
  const isPlain =
    /^https?:\/\/[^/?#@\\]+(?:[/?#][^\\]*)?$/i.test(url) && !/[\0-\x20\x7f]/.test(url);
  if (!isPlain || !URL.canParse(url)) throw invalid("Invalid url");
  const { hostname, username, password } = new URL(url);
  if (hostname === "" || username !== "" || password !== "") throw invalid("Invalid url");
  const refusal = await outgoing.check(url, LOOKUP_MS_MAX);
  if (refusal?.kind === "blocked") throw invalid(`Invalid url: ${refusal.reason}`);
}

async function sealed(ctx: Ctx, text: string | undefined, purpose: string) {
  if (text === undefined) return undefined;
  return text === "" ? null : seal(ctx.config.sealingKeys, text, purpose);
}

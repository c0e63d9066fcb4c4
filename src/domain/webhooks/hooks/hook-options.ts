import { seal } from "../../../auth/seal.ts";
import type { Ctx } from "../../../context.ts";
import {
  HOOK_CONTENT_TYPES,
  HOOK_TYPES,
  type ChatSettings,
  type Hook,
  type HookContentType,
  type HookType,
} from "../../../db/schema/index.ts";
import { defined } from "../../../lib/defined.ts";
import { invalid, malformed } from "../../../lib/failure.ts";
import { parseBranchGlob } from "./branch-glob.ts";
import { parseHookEvents } from "./hook-events.ts";
import { validateHookUrl } from "./validate-hook-url.ts";

/** What is asked of a hook; what is left out is not asked. */
export interface HookOptions {
  url?: string | undefined;
  contentType?: string | undefined;
  /** "" for none, as for the two that follow. */
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

/** What the sealed columns are for: a sealed text opens by this name alone. */
export const SEALED_FOR = { secret: "hook.secret", authorization: "hook.authorization" } as const;

/** The types whose messages can be dressed up, and with what. */
const CHAT_FIELDS: Partial<Record<HookType, readonly (keyof ChatSettings)[]>> = {
  slack: ["channel", "username", "iconUrl", "color"],
  discord: ["username", "iconUrl"],
};

/**
 * The columns that a wish sets, all of them judged.
 *
 * @param chat How a hook that is there shows what it is told.
 * @throws Failure `invalid` for what breaks a rule, `malformed` for a channel that can't be one,
 * `forbidden` for a secret where the service has no key to seal it.
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
  // A text in the database ends at a NUL.
  if (filter !== undefined && (filter.includes("\0") || !parseBranchGlob(filter))) {
    throw invalid("[BranchFilter]: Invalid glob pattern");
  }
  // SECURITY: whatever would begin another header, or no header can hold.
  if (
    options.authorization !== undefined &&
    !/^[\t\x20-\x7e\x80-\xff]*$/.test(options.authorization)
  ) {
    throw invalid("[AuthorizationHeader]: Invalid header");
  }
  const sent = defined(
    Object.fromEntries((CHAT_FIELDS[type] ?? []).map((name) => [name, options.chat[name]])),
  ) as ChatSettings;
  if (sent.channel !== undefined) sent.channel = toChannel(sent.channel);
  if (options.url !== undefined) await validateHookUrl(ctx, options.url);
  return defined({
    url: options.url,
    contentType,
    branchFilter: options.branchFilter,
    events,
    isActive: options.isActive,
    chat: Object.keys(sent).length > 0 ? { ...chat, ...sent } : undefined,
    secret: await sealed(ctx, options.secret, SEALED_FOR.secret),
    authorization: await sealed(ctx, options.authorization, SEALED_FOR.authorization),
  });
}

/** @throws Failure `invalid` for what is no type. */
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

async function sealed(ctx: Ctx, text: string | undefined, purpose: string) {
  if (text === undefined) return undefined;
  return text === "" ? null : seal(ctx.config.sealingKeys, text, purpose);
}

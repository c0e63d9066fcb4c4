import type { SlackSettings } from "../messages/slack.ts";

export const HOOK_TYPES = [
  "gitea",
  "gogs",
  "slack",
  "discord",
  "msteams",
  "telegram",
  "feishu",
  "matrix",
] as const;
export type HookType = (typeof HOOK_TYPES)[number];

/** What of a hook decides how it is delivered to. */
export interface Hook {
  readonly type: HookType;
  readonly url: string;
  /** Of the types that take payloads; a chat is always sent JSON. */
  readonly contentType: "json" | "form";
  /** Empty where nothing is signed. */
  readonly secret: string;
  /** Empty where none is sent. */
  readonly authorizationHeader: string;
  /** Whose hook it is. */
  readonly level: "repository" | "organization" | "user" | "system" | "default";
  /** Of type slack. */
  readonly slack?: SlackSettings | undefined;
}

import type { HookContentType, HookLevel, HookType } from "../../../db/schema/index.ts";
import type { SlackSettings } from "../messages/slack.ts";

/** What of a hook decides how it is delivered to. */
export interface DeliveryTarget {
  readonly type: HookType;
  readonly url: string;
  /** Of the types that take payloads; a chat is always sent JSON. */
  readonly contentType: HookContentType;
  /** Empty where nothing is signed. */
  readonly secret: string;
  /** Empty where none is sent. */
  readonly authorizationHeader: string;
  /** Whose hook it is. */
  readonly level: HookLevel;
  /** Of type slack. */
  readonly slack?: SlackSettings | undefined;
}

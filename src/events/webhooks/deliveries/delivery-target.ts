import type { HookContentType, HookLevel, HookType } from "../../../db/schema/index.ts";

/** The properties of a hook that determine its requests. */
export interface DeliveryTarget {
  readonly type: HookType;
  readonly url: string;
  /** For the types that receive payloads; a chat always receives JSON. */
  readonly contentType: HookContentType;
  /** Empty if deliveries are not signed. */
  readonly secret: string;
  /** Empty if no such header is sent. */
  readonly authorizationHeader: string;
  /** Level of the hook's owner. */
  readonly level: HookLevel;
}

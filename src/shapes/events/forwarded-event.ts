import type { User as UserRow } from "../../db/schema/index.ts";
import { encodeUtf8 } from "../../git/byte-text.ts";
import { type EventEntry, toEvent } from "./event.ts";
import { toUser } from "../users/user.ts";
import type { Viewer } from "../viewer.ts";

/** Bytes of a message that a queue takes, less what it adds of its own. */
const MESSAGE_BYTES_MAX = 127_000;

/** An event as a queue of the operator gets it. */
export type ForwardedEvent = Omit<ReturnType<typeof toEvent>, "payload"> & {
  /** The account that it belongs to; null where it belongs to the service. */
  readonly owner: ReturnType<typeof toUser> | null;
  /** Null where the message would be too large with it. */
  readonly payload: Record<string, unknown> | null;
  /** Where it would. */
  readonly truncated?: true;
};

/** An event as a message, with the bytes it takes. */
export function toForwardedEvent(
  entry: EventEntry,
  owner: UserRow | undefined,
  viewer: Viewer,
): { message: ForwardedEvent; bytes: number } {
  const message = { ...toEvent(entry, viewer), owner: owner ? toUser(owner, viewer) : null };
  const bytes = sizeOf(message);
  if (bytes <= MESSAGE_BYTES_MAX) return { message, bytes };
  const cut = { ...message, payload: null, truncated: true } as const;
  return { message: cut, bytes: sizeOf(cut) };
}

const sizeOf = (message: object): number => encodeUtf8(JSON.stringify(message)).length;

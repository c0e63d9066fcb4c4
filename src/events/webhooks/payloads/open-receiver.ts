import { noReplyDomain } from "../../../config.ts";
import type { Ctx } from "../../../context.ts";
import type { Viewer } from "../../../shapes/viewer.ts";
import { toReceiver } from "./receiver.ts";

/** The viewer that payloads are built for, with the URLs of this service. */
export const openReceiver = ({ publicUrl, config }: Ctx): Viewer =>
  toReceiver({ rootUrl: publicUrl, noReplyDomain: noReplyDomain(config, publicUrl) });

import { noReplyDomain } from "../../../config.ts";
import type { Ctx } from "../../../context.ts";
import type { Viewer } from "../../../shapes/viewer.ts";
import { toReceiver } from "./receiver.ts";

/** The receiver of webhooks as a viewer, with the addresses of this service. */
export const openReceiver = ({ rootUrl, config }: Ctx): Viewer =>
  toReceiver({ rootUrl, noReplyDomain: noReplyDomain(config, rootUrl) });

import { ownAudit } from "./audit.ts";
import { blocks } from "./blocks.ts";
import { selfAvatar } from "./avatar.ts";
import { emails } from "./emails.ts";
import { ownEvents } from "./events.ts";
import { gpgKeys } from "./gpg-keys.ts";
import { oauthApplications } from "./oauth-applications.ts";
import { publicKeys } from "./public-keys.ts";
import { self } from "./self.ts";
import { stars } from "./stars.ts";
import { watchedRepositories } from "./subscriptions.ts";

/**
 * The routes of the signed-in user. When two paths match a request, the one listed first handles
 * it.
 */
export const selfRoutes = [
  self,
  blocks,
  selfAvatar,
  emails,
  publicKeys,
  gpgKeys,
  oauthApplications,
  stars,
  watchedRepositories,
  ownEvents,
  ownAudit,
];

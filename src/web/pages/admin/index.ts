import type { Hono } from "hono";

import type { WebEnv } from "../../env.ts";
import { actions } from "./actions.tsx";
import { audit } from "./audit.tsx";
import { badges } from "./badges.tsx";
import { configuration } from "./config.tsx";
import { siteHooks } from "./hooks.tsx";
import { lists } from "./lists.tsx";
import { overview } from "./overview.tsx";
import { queues } from "./queues.tsx";
import { quota } from "./quota.tsx";
import { schedule } from "./schedule.tsx";
import { storage } from "./storage.tsx";
import { user } from "./user.tsx";
import { users } from "./users.tsx";

/** The administration of the service. */
export const adminPages: readonly Hono<WebEnv>[] = [
  overview,
  users,
  user,
  lists,
  actions,
  badges,
  siteHooks,
  schedule,
  queues,
  storage,
  quota,
  configuration,
  audit,
];

import { accessTokens } from "./access-tokens.ts";
import { userActivities } from "./activities.ts";
import { follows } from "./follows.ts";
import { users } from "./users.ts";

/** The routes of users. When two paths match a request, the one listed first handles it. */
export const userRoutes = [users, userActivities, follows, accessTokens];

import { accessTokens } from "./access-tokens.ts";
import { userActivities } from "./activities.ts";
import { follows } from "./follows.ts";
import { users } from "./users.ts";

/** The routes of users. Of two paths that fit a request, the one listed first answers. */
export const userRoutes = [users, userActivities, follows, accessTokens];

import { notifications } from "./notifications.ts";
import { repoNotifications } from "./repo-notifications.ts";

/** The routes of notifications. When two paths match a request, the one listed first handles it. */
export const notificationRoutes = [notifications, repoNotifications];

/** Changes of webhooks, and requests to deliver again or to test. */
export type WebhookChangeEvent =
  | {
      /** Redelivered: some deliveries are sent again. Paused: the service disabled the webhook. */
      type: "hook.created" | "hook.edited" | "hook.deleted" | "hook.redelivered" | "hook.paused";
      /** 0 for system webhooks. */
      ownerId: number;
      repoId?: number;
      hookId: number;
    }
  | {
      /** A caller asks for a sample delivery to this webhook alone. */
      type: "hook.tested";
      repoId: number;
      ownerId: number;
      hookId: number;
      /** Full name of the branch or tag, or the commit's id if neither was named. */
      ref: string;
      commitOid: string;
    };

/** Changes of users, and of their addresses, tokens and keys. */
export type AccountEvent =
  | { type: "user.created" | "user.deleted"; ownerId: number; name: string }
  | { type: "user.edited"; ownerId: number; changed: string[] }
  | { type: "user.renamed"; ownerId: number; from: string; to: string }
  | { type: "email.added" | "email.removed"; ownerId: number }
  | { type: "access_token.created" | "access_token.deleted"; ownerId: number; name: string }
  | {
      type: "public_key.added" | "public_key.removed";
      ownerId: number;
      /** Set for a deploy key. */
      repoId?: number;
      fingerprint: string;
    }
  | {
      type: "gpg_key.added" | "gpg_key.verified" | "gpg_key.removed";
      ownerId: number;
      keyId: string;
    };

/** The hashes of stored files. */
export type DigestName = "md5" | "sha1" | "sha256" | "sha512";

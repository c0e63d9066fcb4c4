import type { User } from "../../db/schema/index.ts";

/** The avatar of an account, beside its name. */
export function Avatar({
  account,
  size,
}: {
  account: Pick<User, "id" | "avatarHash">;
  size: number;
}) {
  const src = `/avatars/${account.avatarHash || account.id}`;
  return (
    <img
      class="avatar"
      src={src}
      alt=""
      width={size}
      height={size}
      loading={size > 40 ? "eager" : "lazy"}
    />
  );
}

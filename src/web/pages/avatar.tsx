import type { User } from "../../db/schema/index.ts";

/** The path of an account's picture. */
export const avatarPath = ({ id, avatarHash }: Pick<User, "id" | "avatarHash">): string =>
  `/avatars/${avatarHash || id}`;

/** The avatar of an account, beside its name. */
export function Avatar({
  account,
  size,
}: {
  account: Pick<User, "id" | "avatarHash">;
  size: number;
}) {
  return (
    <img
      class="avatar"
      src={avatarPath(account)}
      alt=""
      width={size}
      height={size}
      loading={size > 40 ? "eager" : "lazy"}
    />
  );
}

public import JSON

extension UserPatchJSON {
    /// What ``read(_:_:)`` reads; one operation may also come without its array.
    public static func schema(_ version: APIVersion) -> JSONSchema {
        .named(
            "UserPatch",
            .array(
                of: .anyOf([
                    .object([
                        .required("operation", .choice(["add", "remove"])),
                        .required("property", .choice(["blocks"])),
                        .required(
                            version.namesIdentities ? "id" : "value",
                            UserIDJSON.namingSchema(version)),
                    ]),
                    .object([
                        .required("operation", .choice(["set"])),
                        .required("property", .choice(["blocks"])),
                        .required(
                            "value",
                            .array(of: UserIDJSON.namingSchema(version), 0...mostUsersNamed)),
                    ]),
                    .object([
                        .required("operation", .choice(["set"])),
                        .required("property", .choice(["suspended"])),
                        .required("value", .boolean),
                    ]),
                ])))
    }
}

import Foundation
import PackagePlugin

/// Compiles text files into a target as string literals: those of its folder `Assets`, or the articles of its DocC
/// catalog if it has no such folder.
@main struct EmbedFiles: BuildToolPlugin {
    func createBuildCommands(context: PluginContext, target: any Target) throws -> [Command] {
        let root = target.directoryURL
        let assets = root.appending(path: "Assets")
        let folder =
            FileManager.default.fileExists(atPath: assets.path)
            ? assets : root.appending(path: "\(target.name).docc")
        let names = try FileManager.default.subpathsOfDirectory(atPath: folder.path)
            .filter { name in
                ["css", "html", "js", "md", "svg"].contains((name as NSString).pathExtension)
            }.sorted()
        let output = context.pluginWorkDirectoryURL.appending(path: "EmbeddedFiles.swift")
        return [
            .buildCommand(
                displayName: "Embedding \(names.count) files of \(target.name)",
                executable: try context.tool(named: "embed-files").url,
                arguments: [output.path, folder.path] + names,
                inputFiles: names.map { name in folder.appending(path: name) },
                outputFiles: [output])
        ]
    }
}

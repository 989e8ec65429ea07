EchoCommand.run()
